<?php
// Numbers only, and 1 or 0 as the answer.
header('Content-Type:text/plain');
$id = $_REQUEST['id']; // ID of this transaction.
$uid = $_REQUEST['uid']; // ID of the user which performed this transaction.
$oid = $_REQUEST['oid']; // ID of the offer.
$new = $_REQUEST['new']; // Number of in-game currency your user has earned by completing this offer.
$sig = $_REQUEST['sig'];

if (!(is_numeric($id) && is_numeric($oid) && is_numeric($new))) {
    exit('0');
}
if ($sig != md5($id . ':' . $new . ':' . $uid . ':' . getenv('SECRET'))) {
    exit('0');
}
$db = new PDO('sqlite:' . getenv('FOLDER') . '/superrewards.db');
$db->exec('CREATE TABLE IF NOT EXISTS transactions (id BIGINT PRIMARY KEY, uid TEXT, oid INT, points INT)');
$query = $db->prepare('INSERT OR IGNORE INTO transactions VALUES (:id, :uid, :oid, :new)');
$query->bindParam(':id', $id, PDO::PARAM_INT);
$query->bindParam(':uid', $uid);
$query->bindParam(':oid', $oid, PDO::PARAM_INT);
$query->bindParam(':new', $new, PDO::PARAM_INT);
if (!$query->execute()) {
    exit('0');
}
echo '1';
