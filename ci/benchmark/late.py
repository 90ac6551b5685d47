"""Lets a server answer late: a relay on loopback that holds back each message of its answers."""

import socket
import threading
import time

# The place of the opcode in a message, and UPDATE among the opcodes (RFC 1035 section 4.1.1, RFC 2136 section 1.3).
OPCODE, UPDATE = 2, 5


def is_update(message):
    """Whether a message answers an update."""
    return message[OPCODE] >> 3 & 15 == UPDATE


class Late:
    """A way to a server over TCP, for as long as the `with` block runs: `pause` says for how many seconds it holds back a
    message that the server sends; the next of the same connection waits behind it."""

    def __init__(self, server, pause):
        self.server, self.pause = server, pause
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # A thread that waits for connections sees an end only so.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        """Takes connections, each with two threads."""
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            upstream = socket.create_connection(("127.0.0.1", self.server.port))
            for stream in (client, upstream):
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for carry in (self.carry_questions, self.carry_answers):
                threading.Thread(target=carry, args=(client, upstream), daemon=True).start()

    def carry_questions(self, client, upstream):
        """Gives on what the client sends, at once."""
        try:
            while data := client.recv(1 << 16):
                upstream.sendall(data)
            upstream.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def carry_answers(self, client, upstream):
        """Gives on what the server sends, message by message."""
        with client, upstream, upstream.makefile("rb", 1 << 17) as stream:
            try:
                while len(length := stream.read(2)) == 2:
                    message = stream.read(int.from_bytes(length, "big"))
                    time.sleep(self.pause(message))
                    client.sendall(length + message)
            except OSError:
                pass
