<?php
// Copy from here
const PROOF = '/^(locker\.v1\.([0-9]{1,15})\.([0-9a-f]{32})\.[0-9a-f-]{36}\.([0-9]{1,12}))\.([0-9a-f]{64})$/D';

/** The visitor's ID, or null. One that is valid can have been used before: redeem it, then deliver. */
function verify_proof(array $secrets, int $locker_id, string $proof, ?int $now = null): ?string
{
    if (!preg_match(PROOF, $proof, $parts)) {
        return null;
    }
    [, $signed, $locker, $visitor_id, $expires_at, $signature] = $parts;
    if ($locker !== (string) $locker_id || (int) $expires_at <= ($now ?? time())) {
        return null;
    }
    foreach ($secrets as $secret) {
        $key = base64_decode(str_replace('whsec_', '', $secret));
        if ($key === false || $key === '') { // anyone could sign with it
            throw new InvalidArgumentException('The signing secret must be whsec_ and base64.');
        }
        if (hash_equals(hash_hmac('sha256', $signed, $key), $signature)) {
            return $visitor_id;
        }
    }
    return null;
}
// to here. The rest tries it: php php.php < vectors.json

if (PHP_SAPI === 'cli' && realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    $failed = false;
    foreach (json_decode(stream_get_contents(STDIN), true) as $vector) {
        $visitor_id = verify_proof($vector['secrets'], $vector['locker_id'], $vector['proof'], $vector['now']);
        $is_right = $visitor_id === $vector['visitor_id'];
        $failed = $failed || !$is_right;
        echo $is_right ? 'pass' : 'FAIL', '  ', $vector['name'], "\n";
    }
    exit($failed ? 1 : 0);
}
