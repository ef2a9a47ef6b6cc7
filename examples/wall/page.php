<?php
// A page that shows the wall to the user who is signed in. Settings come from the environment: OFFERDECK_URL, API_KEY and
// SIGNING_SECRET. Put your own session in place of USER_ID.
require __DIR__ . '/../sign-wall-user/php.php';

$api_key = getenv('API_KEY');
$user_id = getenv('USER_ID') ?: 'user-1';
$exp = time() + 3600;
$url = getenv('OFFERDECK_URL') . '/wall?' . http_build_query([
    'apiKey' => $api_key,
    'userId' => $user_id,
    'exp' => $exp,
    'sig' => sign_wall_user(getenv('SIGNING_SECRET'), $api_key, $user_id, $exp),
]);
?>
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Earn coins</title>
<iframe src="<?= htmlspecialchars($url) ?>" title="Offers" width="100%" height="800"
  sandbox="allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"></iframe>
</html>
