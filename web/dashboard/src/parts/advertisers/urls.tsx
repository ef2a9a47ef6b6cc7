import { Accordion, Alert, Anchor, Code, List, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { PostbackUrls } from '../../../../../src/manage/advertisers/schema.ts'
import type { Reply } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { CopyBlock } from '../copy.tsx'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'

type UrlsSectionProps = { advertiserId: number; token: string | null }

/** The addresses to hand out, with the token in them as long as this page knows it. */
export function UrlsSection({ advertiserId, token }: UrlsSectionProps) {
  const urls = useGet<Reply<typeof PostbackUrls>>(`/advertisers/${advertiserId}/postback-urls`)
  return (
    <Section
      title="The addresses to hand out"
      about="The advertiser's system calls the one of the goal when a user has completed it. What stands in braces, that system fills in."
    >
      <List size="sm" spacing={4}>
        <List.Item>
          <Code>{'{click_id}'}</Code> what it got from our link
        </List.Item>
        <List.Item>
          <Code>{'{txn_id}'}</Code> its own id of the sale or action, different each time
        </List.Item>
        <List.Item>
          <Code>{'{amount}'}</Code> what the sale came to, in US dollars
        </List.Item>
      </List>
      <Loaded query={urls}>
        {(data) => (
          <Stack>
            {data.offers.length > 0 && (
              <Text size="sm">
                {token === null ? (
                  <>
                    <Code>{data.token_place}</Code> stands for the token, which we cannot show again.
                  </>
                ) : (
                  'The new token is filled in. It will not be when you come back to this page.'
                )}
              </Text>
            )}
            <Offers data={data} fill={(url) => url.replace(data.token_place, token ?? data.token_place)} />
            {data.more_offers > 0 && (
              <Text size="sm">
                … and {formatCount(data.more_offers)} more offers. Their addresses differ in the goal only.
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

type OffersProps = { data: Reply<typeof PostbackUrls>; fill: (url: string) => string }

function Offers({ data, fill }: OffersProps) {
  if (data.offers.length === 0)
    return <Text size="sm">This advertiser has no offers yet. Each goal of an offer gets an address here.</Text>
  return (
    <Accordion variant="contained" defaultValue={String(data.offers[0]?.offer_id)}>
      {data.offers.map((offer) => (
        <Accordion.Item key={offer.offer_id} value={String(offer.offer_id)}>
          <Accordion.Control>{offer.name}</Accordion.Control>
          <Accordion.Panel>
            <Stack>
              {!offer.can_be_confirmed && (
                <Alert color="yellow">
                  The destination of this offer has no {'{click_id}'}, so its conversions cannot be confirmed.{' '}
                  <Anchor component={Link} href={`/network/offers/${offer.offer_id}`} size="sm" underline="always">
                    Change it
                  </Anchor>
                </Alert>
              )}
              {offer.goals.map((goal) => (
                <div key={goal.goal_id}>
                  <Text size="sm" fw={500}>
                    {goal.name}
                  </Text>
                  <CopyBlock value={fill(goal.postback_url)} label={`Copy the address of ${goal.name}`} />
                </div>
              ))}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}
