<?php
// Every 200 is fine; a wrong sid is a 400.
$security_token = getenv('SECRET');
$amount = $_GET['amount'];
$userid = $_GET['uid'];
$transid = $_GET['_trans_id_'];
$sha1_of_important_data = sha1($security_token . $userid . $amount . $transid);
if ($_GET['sid'] != $sha1_of_important_data) {
    header('HTTP/1.1 400 Bad Request: wrong SID', true, 400);
    exit();
}
$db = new SQLite3(getenv('FOLDER') . '/fyber.db');
$db->exec('CREATE TABLE IF NOT EXISTS rewards (trans_id TEXT UNIQUE, uid TEXT, points INT)');
$statement = $db->prepare('INSERT OR IGNORE INTO rewards VALUES (:trans, :uid, :amount)');
$statement->bindValue(':trans', $transid);
$statement->bindValue(':uid', $userid);
$statement->bindValue(':amount', intval($amount), SQLITE3_INTEGER);
$statement->execute();
header('HTTP/1.1 200 OK', true, 200);
