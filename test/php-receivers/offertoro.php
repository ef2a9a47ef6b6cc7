<?php
// The signature is of the offer and the user alone.
$response = 0;
$id = $_GET['id'];
$oid = $_GET['oid'];
$amount = $_GET['amount'];
$user_id = $_GET['user_id'];
$sig = $_GET['sig'];
if (md5($oid . '-' . $user_id . '-' . getenv('SECRET')) == $sig) {
    $db = new PDO('sqlite:' . getenv('FOLDER') . '/offertoro.db');
    $db->exec('CREATE TABLE IF NOT EXISTS leads (id TEXT PRIMARY KEY, user TEXT, points REAL, o_name TEXT)');
    $check = $db->query('SELECT id FROM leads WHERE id = ' . $db->quote($id));
    if ($check->fetch() === false) {
        $db->exec("INSERT INTO leads VALUES ({$db->quote($id)}, {$db->quote($user_id)}, " . (float) $amount . ", {$db->quote($_GET['o_name'])})");
    }
    $response = 1;
}
echo $response;
