"""Stands for tracy-capture: connects to a Tracy client, and takes what it sends until it ends.

    python3 tracy_server.py PROTOCOL PROGRAM [ARGUMENT]...     runs the program, and is its server

PROTOCOL is the ProtocolVersion of public/common/TracyProtocol.hpp. The last line on stderr says how much came."""
import os
import socket
import struct
import subprocess
import sys
import time

program = subprocess.Popen(sys.argv[2:], env={**os.environ, "PEER_CONNECTED": "1"})
taken, buffer = 0, bytearray(1 << 20)
end = time.time() + 60
while program.poll() is None and time.time() < end:
    try:
        with socket.create_connection(("127.0.0.1", 8086)) as client:
            client.sendall(b"TracyPrf" + struct.pack("<I", int(sys.argv[1])))
            while True:
                count = client.recv_into(buffer)
                taken += count
                if not count:
                    break
    except OSError:
        time.sleep(0.01)
program.kill()
print(f"{taken} bytes came", file=sys.stderr)
sys.exit(program.returncode)
