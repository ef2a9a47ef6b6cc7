<?php
require_once __DIR__ . '/../verify-postback/php.php';

/** Rewards in ten-thousandths, so that sums are exact. */
function open_accounts(string $file): PDO
{
    $db = new PDO("sqlite:$file", options: [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 5]);
    $db->exec('CREATE TABLE IF NOT EXISTS postbacks (
        id TEXT PRIMARY KEY,
        conversion_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        status TEXT NOT NULL,
        reward INTEGER NOT NULL)');
    $db->exec('CREATE TABLE IF NOT EXISTS balances (user_id TEXT PRIMARY KEY, reward INTEGER NOT NULL)');
    return $db;
}

/** The postback and what it credits in one transaction: both are stored, or neither is. */
function credit(PDO $db, array $event): void
{
    $data = $event['data'];
    if ($data['is_test'] || !in_array($data['status'], ['approved', 'reversed'], true)) {
        return;
    }
    $amount = (int) round(abs($data['payout_local']) * 10_000);
    $reward = $data['status'] === 'approved' ? $amount : -$amount;
    $db->exec('BEGIN IMMEDIATE');
    try {
        $stored = $db->prepare('INSERT INTO postbacks VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING');
        $stored->execute([$event['id'], $data['conversion_id'], $data['user_id'], $data['status'], $reward]);
        if ($stored->rowCount() === 1) {
            $db->prepare('INSERT INTO balances VALUES (?, ?)
                ON CONFLICT (user_id) DO UPDATE SET reward = balances.reward + excluded.reward')
                ->execute([$data['user_id'], $reward]);
        }
        $db->exec('COMMIT');
    } catch (Throwable $error) {
        $db->exec('ROLLBACK');
        throw $error;
    }
}

// php -S 127.0.0.1:3000 php.php, or behind any web server
if (PHP_SAPI !== 'cli') {
    $headers = array_change_key_case(getallheaders(), CASE_LOWER);
    $body = file_get_contents('php://input');
    try {
        if (!verify_postback(explode(' ', (string) getenv('SIGNING_SECRET')), $headers, $body)) {
            http_response_code(401);
            exit('wrong signature');
        }
        credit(open_accounts(getenv('DATABASE') ?: 'accounts.db'), json_decode($body, true, flags: JSON_THROW_ON_ERROR));
    } catch (Throwable $error) {
        error_log((string) $error);
        http_response_code(500);
        exit('not stored'); // the postback comes again
    }
    exit('OK');
}
