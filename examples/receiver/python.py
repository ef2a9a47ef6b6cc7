import importlib.util
import json
import os
import sqlite3
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

path = Path(__file__).parent.parent / "verify-postback" / "python.py"
spec = importlib.util.spec_from_file_location("verify", path)
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)


def open_accounts(file):
    """Rewards in ten-thousandths, so that sums are exact."""
    db = sqlite3.connect(file, timeout=5, isolation_level=None)
    db.execute(
        """CREATE TABLE IF NOT EXISTS postbacks (
             id TEXT PRIMARY KEY,
             conversion_id TEXT NOT NULL,
             user_id TEXT NOT NULL,
             status TEXT NOT NULL,
             reward INTEGER NOT NULL)"""
    )
    db.execute("CREATE TABLE IF NOT EXISTS balances (user_id TEXT PRIMARY KEY, reward INTEGER NOT NULL)")
    return db


def credit(db, event):
    """The postback and what it credits in one transaction: both are stored, or neither is."""
    data = event["data"]
    if data["is_test"] or data["status"] not in ("approved", "reversed"):
        return
    amount = round(abs(data["payout_local"]) * 10_000)
    reward = amount if data["status"] == "approved" else -amount
    db.execute("BEGIN IMMEDIATE")
    try:
        stored = db.execute(
            "INSERT INTO postbacks VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            (event["id"], data["conversion_id"], data["user_id"], data["status"], reward),
        )
        if stored.rowcount == 1:
            db.execute(
                """INSERT INTO balances VALUES (?, ?)
                   ON CONFLICT (user_id) DO UPDATE SET reward = balances.reward + excluded.reward""",
                (data["user_id"], reward),
            )
        db.execute("COMMIT")
    except Exception:
        db.execute("ROLLBACK")
        raise


class Receiver(BaseHTTPRequestHandler):
    secrets = []
    database = os.environ.get("DATABASE", "accounts.db")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not verify.verify_postback(self.secrets, self.headers, body):
            return self.answer(401, b"wrong signature")
        try:
            db = open_accounts(self.database)
            try:
                credit(db, json.loads(body))
            finally:
                db.close()
        except Exception:
            traceback.print_exc()
            return self.answer(500, b"not stored")  # the postback comes again
        self.answer(200, b"OK")

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


if __name__ == "__main__":
    Receiver.secrets = os.environ["SIGNING_SECRET"].split(" ")
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
