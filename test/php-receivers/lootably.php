<?php
$hash = hash('sha256', $_GET['userID'] . $_GET['ip'] . $_GET['revenue'] . $_GET['currencyReward'] . getenv('SECRET'));
if ($hash !== $_GET['hash']) {
    echo 0;
    exit;
}
$db = new PDO('sqlite:' . getenv('FOLDER') . '/lootably.db');
$db->exec('CREATE TABLE IF NOT EXISTS conversions (transaction_id TEXT PRIMARY KEY, user TEXT, points REAL, chargeback INT)');
$points = $_GET['status'] === '1' ? $_GET['currencyReward'] : -abs($_GET['currencyReward']);
$insert = $db->prepare('INSERT OR IGNORE INTO conversions VALUES (?, ?, ?, ?)');
$insert->execute([$_GET['transactionID'], $_GET['userID'], $points, $_GET['status'] === '1' ? 0 : 1]);
echo 1;
