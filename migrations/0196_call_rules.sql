-- What a network's callbacks mean beyond their words for statuses (src/features/accounts/call-rules.ts).
ALTER TABLE advertisers ADD call_rules jsonb NOT NULL DEFAULT '{}';
UPDATE advertisers SET call_rules = call_rules || '{"only_goal": true}'
WHERE advertiser_id IN (SELECT advertiser_id FROM feeds WHERE preset IN ('adgem', 'cpalead'));
UPDATE advertisers SET call_rules = call_rules || '{"ignored": [{"parameter": "nonpayable_install_goal", "is": "true", "reason": "An install that this network does not pay for."}]}'
WHERE advertiser_id IN (SELECT advertiser_id FROM feeds WHERE preset = 'adgem');
