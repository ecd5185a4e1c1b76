"""`client.py DOOR ARGUMENT…`: has the resident at DOOR run a command as if it had been started here.

It is started for every command, and imports only what the interpreter has loaded or is built with: `socket` takes longer than
all the rest.
"""

import _socket
import array
import marshal
import os
import sys

connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connection.connect(sys.argv[1])
request = memoryview(marshal.dumps((sys.argv[2:], dict(os.environ), os.getcwd())))  # noqa: PTH109 - pathlib takes long to load
files = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
sent = connection.sendmsg([request], [files])
connection.sendall(request[sent:])
connection.shutdown(_socket.SHUT_WR)
status = connection.recv(1)
if not status:
    sys.exit("gcloud ended without a status")
# The interpreter has nothing to flush or to free.
os._exit(status[0])
