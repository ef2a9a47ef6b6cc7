-- A postback whose attempts all failed is called failed everywhere.
UPDATE notices SET kind = 'postbacks_failed' WHERE kind = 'postbacks_given_up';
