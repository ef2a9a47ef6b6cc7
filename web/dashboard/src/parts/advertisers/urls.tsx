import { Accordion, Alert, Anchor, Code, List, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { CopyBlock } from '../copy.tsx'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'

type UrlsSectionProps = { advertiserId: number; token: string | null; isOwn?: boolean }

/** The addresses to hand out, with the token in them as long as this page knows it. */
export function UrlsSection({ advertiserId, token, isOwn = false }: UrlsSectionProps) {
  const urls = useGet(`/advertisers/${advertiserId}/postback-urls`)
  return (
    <Section
      title="Postback URLs"
      about={
        isOwn
          ? 'Your system calls the URL of a goal when a user completes it, and replaces the macros in braces.'
          : 'Give these URLs to the advertiser. Its system calls the URL of a goal when a user completes it, and replaces the macros in braces.'
      }
    >
      <List size="sm" spacing={4}>
        <List.Item>
          <Code>{'{click_id}'}</Code> the click ID from our link
        </List.Item>
        <List.Item>
          <Code>{'{txn_id}'}</Code> {isOwn ? 'your' : 'the advertiser’s'} unique ID of the sale or action
        </List.Item>
        <List.Item>
          <Code>{'{amount}'}</Code> the sale amount, in US dollars
        </List.Item>
      </List>
      <Loaded query={urls}>
        {(data) => (
          <Stack>
            {data.offers.length > 0 && (
              <Text size="sm">
                {token === null ? (
                  <>
                    <Code>{data.token_place}</Code> is a placeholder: replace it with the token, which can’t be shown
                    again.
                  </>
                ) : (
                  'The new token is filled in. Copy the URLs now: it won’t be shown again.'
                )}
              </Text>
            )}
            <Offers
              data={data}
              isOwn={isOwn}
              fill={(url) => url.replace(data.token_place, token ?? data.token_place)}
            />
            {data.more_offers > 0 && (
              <Text size="sm">
                … and {formatCount(data.more_offers)} more offers. Their URLs differ only in the goal.
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

type OffersProps = { data: Schemas['AdvertiserPostbackUrls']; isOwn: boolean; fill: (url: string) => string }

function Offers({ data, isOwn, fill }: OffersProps) {
  if (data.offers.length === 0)
    return (
      <Text size="sm">
        {isOwn ? 'You have no offers yet.' : 'This advertiser has no offers yet.'} Each goal of an offer gets a URL
        here.
      </Text>
    )
  return (
    <Accordion variant="contained" defaultValue={String(data.offers[0]?.offer_id)}>
      {data.offers.map((offer) => (
        <Accordion.Item key={offer.offer_id} value={String(offer.offer_id)}>
          <Accordion.Control>{offer.name}</Accordion.Control>
          <Accordion.Panel>
            <Stack>
              {!offer.can_be_confirmed && (
                <Alert color="yellow">
                  The destination URL of this offer has no {'{click_id}'}, so its conversions cannot be confirmed.{' '}
                  {!isOwn && (
                    <Anchor component={Link} href={`/network/offers/${offer.offer_id}`} size="sm" underline="always">
                      Edit offer
                    </Anchor>
                  )}
                </Alert>
              )}
              {offer.goals.map((goal) => (
                <div key={goal.goal_id}>
                  <Text size="sm" fw={500}>
                    {goal.name}
                  </Text>
                  <CopyBlock value={fill(goal.postback_url)} label={`Copy the URL of ${goal.name}`} />
                </div>
              ))}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}
