<?php
// A chargeback is looked up by the transaction that it takes back, so both must have the same ID. Reads $_POST alone.
$db = new PDO('sqlite:' . getenv('FOLDER') . '/wannads-lookup.db');
$db->exec('CREATE TABLE IF NOT EXISTS offerwall (trans_id TEXT PRIMARY KEY, user TEXT, points REAL, ip TEXT)');
extract($_POST);
if (md5($subId . $transId . $reward . getenv('SECRET')) !== $signature) {
    die('ERROR');
}
$found = $db->prepare('SELECT points FROM offerwall WHERE trans_id = ?');
$found->execute([$transId]);
$row = $found->fetch(PDO::FETCH_ASSOC);
if ($status === '1') {
    if ($row) {
        die('DUP');
    }
    $db->prepare('INSERT INTO offerwall VALUES (?, ?, ?, ?)')->execute([$transId, $subId, $reward, $userIp]);
    die('OK');
}
if (!$row) {
    die('ERROR: no such transaction');
}
$db->prepare('UPDATE offerwall SET points = 0 WHERE trans_id = ?')->execute([$transId]);
echo 'OK';
