<?php

// Copy from here
/** The sig of a wall. $expires_at is its exp: Unix seconds, at most a day from now. */
function sign_wall_user(string $secret, string $api_key, string $user_id, int $expires_at): string
{
    $key = base64_decode(str_replace('whsec_', '', $secret));
    if ($key === false || $key === '') {
        throw new InvalidArgumentException('The signing secret must be whsec_ and base64.');
    }
    return hash_hmac('sha256', "wall.v1\n$api_key\n$expires_at\n$user_id", $key);
}
// to here. The rest tries it: php php.php < vectors.json

if (PHP_SAPI === 'cli' && realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    $failed = false;
    foreach (json_decode(stream_get_contents(STDIN), true) as $vector) {
        $signature = sign_wall_user($vector['secret'], $vector['api_key'], $vector['user_id'], $vector['expires_at']);
        $is_right = $signature === $vector['signature'];
        $failed = $failed || !$is_right;
        echo $is_right ? 'pass' : 'FAIL', '  ', $vector['name'], "\n";
    }
    exit($failed ? 1 : 0);
}
