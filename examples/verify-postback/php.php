<?php
// Copy from here
/** By its headers, with names in lower case. $content is the body of a POST as it came; of a GET, the whole URL. */
function verify_postback(array $secrets, array $headers, string $content, ?int $now = null): bool
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    $signatures = $headers['webhook-signature'] ?? '';
    if ($id === '' || $signatures === '' || !preg_match('/^[0-9]{1,12}$/D', $timestamp)) {
        return false;
    }
    if (abs(($now ?? time()) - (int) $timestamp) > 300) {
        return false;
    }
    foreach ($secrets as $secret) {
        $key = key_of($secret);
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$content", $key, true));
        foreach (explode(' ', $signatures) as $signature) {
            if (hash_equals($expected, $signature)) {
                return true;
            }
        }
    }
    return false;
}

/** By the {signature} at the end of its URL. */
function verify_signature(array $secrets, string $url): bool
{
    foreach ($secrets as $secret) {
        $key = key_of($secret);
        if (hash_equals(hash_hmac('sha256', substr($url, 0, -64), $key), substr($url, -64))) {
            return true;
        }
    }
    return false;
}

function key_of(string $secret): string
{
    $key = base64_decode(str_replace('whsec_', '', $secret));
    if ($key === false || $key === '') { // anyone could sign with it
        throw new InvalidArgumentException('The signing secret must be whsec_ and base64.');
    }
    return $key;
}
// to here. The rest tries it: php php.php < vectors.json

if (PHP_SAPI === 'cli' && realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    $failed = false;
    foreach (json_decode(stream_get_contents(STDIN), true) as $vector) {
        $is_ours = $vector['proof'] === 'headers'
            ? verify_postback($vector['secrets'], $vector['headers'], $vector['content'], $vector['now'])
            : verify_signature($vector['secrets'], $vector['content']);
        $is_right = $is_ours === ($vector['expect'] === 'ok');
        $failed = $failed || !$is_right;
        echo $is_right ? 'pass' : 'FAIL', '  ', $vector['name'], "\n";
    }
    exit($failed ? 1 : 0);
}
