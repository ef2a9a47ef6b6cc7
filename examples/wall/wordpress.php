<?php
/**
 * Plugin Name: Offerdeck wall
 * Description: [offerdeck_wall] shows the wall to the user who is signed in.
 *
 * Put this file and examples/sign-wall-user/php.php into a folder of wp-content/plugins, and define in wp-config.php:
 * OFFERDECK_URL, OFFERDECK_API_KEY and OFFERDECK_SIGNING_SECRET.
 */
require_once __DIR__ . '/php.php';

add_shortcode('offerdeck_wall', function () {
    $user = wp_get_current_user();
    if ($user->ID === 0) {
        return '<p>Sign in to earn coins.</p>';
    }
    $user_id = (string) $user->ID;
    $exp = time() + 3600;
    $url = OFFERDECK_URL . '/wall?' . http_build_query([
        'apiKey' => OFFERDECK_API_KEY,
        'userId' => $user_id,
        'exp' => $exp,
        'sig' => sign_wall_user(OFFERDECK_SIGNING_SECRET, OFFERDECK_API_KEY, $user_id, $exp),
    ]);
    return '<iframe src="' . esc_url($url) . '" title="Offers" width="100%" height="800"'
        . ' sandbox="allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"></iframe>';
});
