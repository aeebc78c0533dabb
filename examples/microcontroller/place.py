#!/usr/bin/env python3
"""place.py - makes a .prof of the pieces that rtt.h sends: place.py PIECES FILE.prof"""
import struct
import sys

with open(sys.argv[1], 'rb') as pieces, open(sys.argv[2], 'wb') as image:
    while len(head := pieces.read(8)) == 8:
        place, size = struct.unpack('<II', head)
        image.seek(place)
        image.write(pieces.read(size))
