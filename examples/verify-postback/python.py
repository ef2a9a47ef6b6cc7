# Copy from here
import base64
import hashlib
import hmac
import re
import time


def verify_postback(secrets, headers, content, now=None):
    """By its headers. content is the body of a POST as it came, as bytes; of a GET, the whole URL, encoded."""
    message_id = headers.get("webhook-id") or ""
    timestamp = headers.get("webhook-timestamp") or ""
    signatures = headers.get("webhook-signature") or ""
    if not message_id or not signatures or not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > 300:
        return False
    for secret in secrets:
        key = key_of(secret)
        digest = hmac.new(key, f"{message_id}.{timestamp}.".encode() + content, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any(hmac.compare_digest(signature.encode(), expected) for signature in signatures.split(" ")):
            return True
    return False


def verify_signature(secrets, url):
    """By the {signature} at the end of its URL."""
    for secret in secrets:
        key = key_of(secret)
        expected = hmac.new(key, url[:-64].encode(), hashlib.sha256).hexdigest()
        if hmac.compare_digest(url[-64:].encode(), expected.encode()):
            return True
    return False


def key_of(secret):
    key = base64.b64decode(secret.replace("whsec_", ""))
    if not key:  # anyone could sign with it
        raise ValueError("The signing secret must be whsec_ and base64.")
    return key
# to here. The rest tries it: python3 python.py < vectors.json


if __name__ == "__main__":
    import json
    import sys

    failed = False
    for vector in json.load(sys.stdin.buffer):
        if vector["proof"] == "headers":
            content = vector["content"].encode()
            is_ours = verify_postback(vector["secrets"], vector["headers"], content, vector["now"])
        else:
            is_ours = verify_signature(vector["secrets"], vector["content"])
        is_right = is_ours == (vector["expect"] == "ok")
        failed = failed or not is_right
        print("pass" if is_right else "FAIL", vector["name"], sep="  ")
    sys.exit(1 if failed else 0)
