# Copy from here
import base64
import hashlib
import hmac


def sign_wall_user(secret, api_key, user_id, expires_at):
    """The sig of a wall. expires_at is its exp: Unix seconds, at most a day from now."""
    key = base64.b64decode(secret.replace("whsec_", ""))
    if not key:
        raise ValueError("The signing secret must be whsec_ and base64.")
    text = f"wall.v1\n{api_key}\n{expires_at}\n{user_id}"
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
# to here. The rest tries it: python3 python.py < vectors.json


if __name__ == "__main__":
    import json
    import sys

    failed = False
    for vector in json.load(sys.stdin.buffer):
        signature = sign_wall_user(vector["secret"], vector["api_key"], vector["user_id"], vector["expires_at"])
        is_right = signature == vector["signature"]
        failed = failed or not is_right
        print("pass" if is_right else "FAIL", vector["name"], sep="  ")
    sys.exit(1 if failed else 0)
