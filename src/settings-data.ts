// The settings of what is kept of users, for how long, and where copies of it go.
/** What is stored of users' IP addresses. */
export const IP_ADDRESSES = ['full', 'truncated', 'none'] as const
export type IpAddresses = (typeof IP_ADDRESSES)[number]

export type Setting = { name: string; fallback: string; about: string; secret?: true }

export const DATA_SETTINGS: readonly Setting[] = [
  {
    name: 'IP_ADDRESSES',
    fallback: 'full',
    about:
      'What is stored of the IP addresses of users: `full`, `truncated` (IPv4 to /24, IPv6 to /48) or `none`. Countries, listed ' +
      'addresses and limits of visits go by the whole address in any case; the fraud signal `ip_users` then counts networks, or nothing.',
  },
  {
    name: 'RETENTION_DAYS',
    fallback: '90',
    about:
      "How many days clicks, the log of advertisers' calls, postbacks with every attempt, notices, the log of mails, expired " +
      "unlocks of lockers and closed reports about them are kept. Clicks, and the sub-IDs of users who were not seen since, are kept longer where an offer's attribution window " +
      'and hold need them; postbacks count from when they were delivered or failed, can ' +
      'be sent again until then, and are kept for as long as they are still to be sent. Conversions, their history and the ' +
      'ledger are kept for good.',
  },
  {
    name: 'BACKUP_DIR',
    fallback: 'none',
    about:
      'Folder for backups of the embedded database, on another disk. The worker makes one every `BACKUP_HOURS` hours, restores it into `DATA_DIR` to verify it, and keeps the newest `BACKUP_KEEP`.',
  },
  { name: 'BACKUP_HOURS', fallback: '24', about: 'Hours between two backups.' },
  { name: 'BACKUP_KEEP', fallback: '7', about: 'How many backups to keep.' },
  {
    name: 'BACKUP_PASSPHRASE',
    fallback: 'none',
    about: 'Encrypts backups; at least 16 characters. Without it no backup can be restored: keep it elsewhere, too.',
    secret: true,
  },
  {
    name: 'EXPORT_URL',
    fallback: 'none',
    about:
      'Where the worker exports clicks and events of conversions to, for a warehouse: `file:///var/exports` for a folder, ' +
      '`s3://bucket/prefix` for S3-compatible storage. The same on every worker; a folder must be shared by them. See [analytics](analytics.md).',
  },
  {
    name: 'EXPORT_INTERVAL_SECONDS',
    fallback: '60',
    about: 'How often new rows are exported, 5 to 86,400. Longer means fewer and larger files.',
  },
  {
    name: 'EXPORT_S3_ENDPOINT',
    fallback: "Amazon's of `EXPORT_S3_REGION`",
    about: 'Where S3-compatible storage other than that of Amazon is: `https://storage.example.com`.',
  },
  { name: 'EXPORT_S3_REGION', fallback: 'us-east-1', about: 'The region of the bucket.' },
  {
    name: 'EXPORT_S3_ACCESS_KEY_ID',
    fallback: 'none',
    about:
      'With `EXPORT_S3_SECRET_ACCESS_KEY`, required for `s3://`. The key needs `s3:PutObject` and `s3:GetObject` below the prefix, and `s3:ListBucket`, without which missing files are answered as forbidden.',
  },
  {
    name: 'EXPORT_S3_SECRET_ACCESS_KEY',
    fallback: 'none',
    about: 'The secret of `EXPORT_S3_ACCESS_KEY_ID`.',
    secret: true,
  },
  {
    name: 'RETENTION_DAYS_CLICKS',
    fallback: '`RETENTION_DAYS`',
    about:
      'How many days clicks, and the sub-IDs of users who were not seen since, are kept; longer where offers need them.',
  },
  {
    name: 'RETENTION_DAYS_CALLBACKS',
    fallback: '`RETENTION_DAYS`',
    about: "How many days the log of advertisers' callbacks is kept.",
  },
  {
    name: 'RETENTION_DAYS_POSTBACKS',
    fallback: '`RETENTION_DAYS`',
    about: 'How many days postbacks and their attempts are kept after they were delivered or failed.',
  },
  {
    name: 'RETENTION_DAYS_REQUESTS',
    fallback: '3',
    about: 'How many days the log of API requests is kept, 30 at most.',
  },
  {
    name: 'RETENTION_DAYS_TICKETS',
    fallback: '400',
    about: 'How many days tickets are kept after their last change; their images for 90 days at most.',
  },
  {
    name: 'RETENTION_DAYS_UNLOCKS',
    fallback: '`RETENTION_DAYS`',
    about:
      'How many days unlocks of lockers are kept after they expired, and reports about lockers after they were closed.',
  },
  {
    name: 'RETENTION_DAYS_ADDRESSES',
    fallback: '`RETENTION_DAYS`',
    about: 'How many days conversions and their history keep the IP address of the user.',
  },
]
