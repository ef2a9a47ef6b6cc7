# Copy from here
import base64
import hashlib
import hmac
import re
import time

PROOF = re.compile(r"(locker\.v1\.([0-9]{1,15})\.([0-9a-f]{32})\.[0-9a-f-]{36}\.([0-9]{1,12}))\.([0-9a-f]{64})")


def verify_proof(secrets, locker_id, proof, now=None):
    """The visitor's ID, or None. One that is valid can have been used before: redeem it, then deliver."""
    parts = PROOF.fullmatch(proof)
    if not parts:
        return None
    signed, locker, visitor_id, expires_at, signature = parts.groups()
    if locker != str(locker_id) or int(expires_at) <= (time.time() if now is None else now):
        return None
    for secret in secrets:
        key = base64.b64decode(secret.replace("whsec_", ""))
        if not key:  # anyone could sign with it
            raise ValueError("The signing secret must be whsec_ and base64.")
        expected = hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()
        if hmac.compare_digest(signature, expected):
            return visitor_id
    return None
# to here. The rest tries it: python3 python.py < vectors.json


if __name__ == "__main__":
    import json
    import sys

    failed = False
    for vector in json.load(sys.stdin.buffer):
        visitor_id = verify_proof(vector["secrets"], vector["locker_id"], vector["proof"], vector["now"])
        is_right = visitor_id == vector["visitor_id"]
        failed = failed or not is_right
        print("pass" if is_right else "FAIL", vector["name"], sep="  ")
    sys.exit(1 if failed else 0)
