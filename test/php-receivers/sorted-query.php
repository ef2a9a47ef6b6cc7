<?php
// Everything is signed; the status says whether to add or to subtract.
$params = $_GET;
$signature = $params['signature'] ?? '';
unset($params['signature']);
ksort($params);
if (!hash_equals(hash_hmac('sha256', http_build_query($params), getenv('SECRET')), $signature)) {
    http_response_code(403);
    exit('invalid signature');
}
$db = new PDO('sqlite:' . getenv('FOLDER') . '/sorted-query.db', options: [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$db->exec('CREATE TABLE IF NOT EXISTS transactions (transaction_id TEXT, status TEXT, user TEXT, points REAL, UNIQUE (transaction_id, status))');
$points = match ($params['status']) {
    'credited' => (float) $params['amount'],
    'rejected' => -(float) $params['amount'],
};
$db->prepare('INSERT OR IGNORE INTO transactions VALUES (?, ?, ?, ?)')
    ->execute([$params['transaction_id'], $params['status'], $params['user_id'], $points]);
echo json_encode(['ok' => true]);
