#!/usr/bin/env python3
"""Plays the debug probe: runs a program in QEMU, finds the control block of RTT in its memory through QEMU's stub for
gdb, and empties the two buffers while the program goes on, until the first one says "done".

usage: rtt_probe.py RAM SIZE TEXT PIECES COMMAND...   (RAM: address; TEXT, PIECES: files for the contents)"""
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time


class Stub:
    """A client of the remote protocol of gdb."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        for _ in range(400):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.05)
        self.got = b''

    def send(self, text):
        self.socket.sendall(b'$%s#%02x' % (text, sum(text) & 255))

    def answer(self):
        while True:
            start = self.got.find(b'$')
            end = self.got.find(b'#', start)
            if start >= 0 and 0 <= end <= len(self.got) - 3:
                text, self.got = self.got[start + 1:end], self.got[end + 3:]
                self.socket.sendall(b'+')
                return text
            more = self.socket.recv(65536)
            if not more:
                raise EOFError('QEMU has ended')
            self.got += more

    def ask(self, text):
        self.send(text)
        answer = self.answer()
        while answer[:1] == b'T': # it has stopped
            answer = self.answer()
        return answer

    def read(self, address, size):
        data = b''
        while len(data) < size:
            part = min(1024, size - len(data))
            data += bytes.fromhex(self.ask(b'm%x,%x' % (address + len(data), part)).decode())
        return data

    def write_word(self, address, value):
        assert self.ask(b'M%x,4:%s' % (address, struct.pack('<I', value).hex().encode())) == b'OK'

    def go_on(self, seconds):
        self.send(b'c')
        time.sleep(seconds)
        self.socket.sendall(b'\x03')
        self.answer()


def empty(stub, at):
    """Returns what is new in the buffer whose description is at this address."""
    _, buffer, size, written, read, _ = struct.unpack('<6I', stub.read(at, 24))
    if written == read:
        return b''
    data = stub.read(buffer + read, (written if written > read else size) - read)
    if written < read:
        data += stub.read(buffer, written)
    stub.write_word(at + 16, written)
    return data


def main():
    ram, ram_size, text_path, pieces_path = int(sys.argv[1], 0), int(sys.argv[2], 0), sys.argv[3], sys.argv[4]
    path = os.path.join(tempfile.mkdtemp(), 'stub')
    qemu = subprocess.Popen(sys.argv[5:] + ['-chardev', 'socket,id=stub,server=on,wait=off,path=' + path,
                                            '-gdb', 'chardev:stub'], stdin=subprocess.DEVNULL)
    text, pieces, until = b'', b'', time.monotonic() + float(os.environ.get('PROF_TEST_SECONDS', '60'))
    try:
        stub = Stub(path)
        block = -1
        while b'done\n' not in text and time.monotonic() < until:
            if block < 0:
                block = stub.read(ram, ram_size).find(b'SEGGER RTT\0\0\0\0\0\0')
            if block >= 0:
                ups, downs = struct.unpack('<2I', stub.read(ram + block + 16, 8))
                assert (ups, downs) == (2, 0)
                text += empty(stub, ram + block + 24)
                pieces += empty(stub, ram + block + 48)
            stub.go_on(0.002)
    finally:
        qemu.kill()
        qemu.wait()
        if os.path.exists(path):
            os.unlink(path)
        os.rmdir(os.path.dirname(path))
    with open(text_path, 'wb') as file:
        file.write(text)
    with open(pieces_path, 'wb') as file:
        file.write(pieces)
    if block < 0:
        print('no control block of RTT in memory')
    elif b'done\n' not in text:
        print('the program did not come to its end')
    return b'done\n' not in text


sys.exit(main())
