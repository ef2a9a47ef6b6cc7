<?php
// As reward sites have it: GET or POST, every answer is a 200, a repeat is DUP, status 2 takes back.
$db = new PDO('sqlite:' . getenv('FOLDER') . '/wannads.db');
$db->exec('CREATE TABLE IF NOT EXISTS offerwall (trans_id TEXT PRIMARY KEY, user TEXT, points REAL, ip TEXT)');
$secret = getenv('SECRET');

$userId = isset($_REQUEST['subId']) ? $_REQUEST['subId'] : null;
$transactionId = isset($_REQUEST['transId']) ? $_REQUEST['transId'] : null;
$points = isset($_REQUEST['reward']) ? $_REQUEST['reward'] : null;
$signature = isset($_REQUEST['signature']) ? $_REQUEST['signature'] : null;
$action = isset($_REQUEST['status']) ? $_REQUEST['status'] : null;
$ip = isset($_REQUEST['userIp']) ? $_REQUEST['userIp'] : '0.0.0.0';

if (md5($userId . $transactionId . $points . $secret) != $signature) {
    echo "ERROR: Signature doesn't match";
    return;
}
if ($action == 2) {
    $points = -abs($points);
}
$found = $db->prepare('SELECT COUNT(*) FROM offerwall WHERE trans_id = ?');
$found->execute([$transactionId]);
if ($found->fetchColumn() > 0) {
    echo 'DUP';
    return;
}
$db->prepare('INSERT INTO offerwall VALUES (?, ?, ?, ?)')->execute([$transactionId, $userId, $points, $ip]);
echo 'OK';
