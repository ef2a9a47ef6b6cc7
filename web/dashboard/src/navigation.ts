// The pages that the menu leads to.
import {
  IconAffiliate,
  IconBan,
  IconHeartbeat,
  IconHistory,
  IconListDetails,
  IconScale,
  IconServer,
  IconChartBar,
  IconLayoutDashboard,
  IconLayoutGrid,
  IconPlugConnected,
  IconUser,
  IconUsers,
  IconWallet,
  IconWebhook,
  IconBuildingStore,
  IconChecks,
  IconShieldSearch,
  IconCircleCheck,
  IconCoins,
  IconGift,
  IconLifebuoy,
  IconTerminal2,
  IconSpeakerphone,
  IconTags,
} from '@tabler/icons-react'

export type NavItem = { name: string; to: string; icon: typeof IconUsers }

export const APP_LINKS: NavItem[] = [
  { name: 'Overview', to: '', icon: IconAffiliate },
  { name: 'Integration', to: '/integration', icon: IconPlugConnected },
  { name: 'Postbacks', to: '/postbacks', icon: IconWebhook },
  { name: 'Offers', to: '/offers', icon: IconGift },
  { name: 'Rewards', to: '/rewards', icon: IconCoins },
  { name: 'Wall', to: '/wall', icon: IconLayoutGrid },
  { name: 'Conversions', to: '/conversions', icon: IconCircleCheck },
  { name: 'Users', to: '/users', icon: IconUser },
  { name: 'Tickets', to: '/tickets', icon: IconLifebuoy },
  { name: 'Reports', to: '/reports', icon: IconChartBar },
  { name: 'API log', to: '/requests', icon: IconListDetails },
  { name: 'API console', to: '/console', icon: IconTerminal2 },
]
export const publisherLinks = (seesMoney: boolean): NavItem[] => [
  ...(seesMoney ? [{ name: 'Balance', to: '/balance', icon: IconWallet }] : []),
  { name: 'People', to: '/people', icon: IconUsers },
]
export const NETWORK_LINKS: NavItem[] = [
  { name: 'Overview', to: '', icon: IconLayoutDashboard },
  { name: 'Reports', to: '/reports', icon: IconChartBar },
  { name: 'Offers', to: '/offers', icon: IconTags },
  { name: 'Advertisers', to: '/advertisers', icon: IconSpeakerphone },
  { name: 'Publishers', to: '/publishers', icon: IconBuildingStore },
  { name: 'Conversions', to: '/conversions', icon: IconChecks },
  { name: 'Fraud', to: '/fraud', icon: IconShieldSearch },
  { name: 'Banned users', to: '/bans', icon: IconBan },
  { name: 'Postback health', to: '/postbacks', icon: IconHeartbeat },
  { name: 'Ledger', to: '/ledger', icon: IconScale },
  { name: 'People', to: '/people', icon: IconUsers },
  { name: 'Audit log', to: '/audit', icon: IconHistory },
  { name: 'System', to: '/system', icon: IconServer },
]
