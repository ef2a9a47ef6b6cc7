import { Alert, Anchor, Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { type ApiError, post } from '../lib/api.ts'
import { BrokenLink, Door, LinkFault } from '../parts/door.tsx'

export default function VerifyEmail() {
  const [token] = useState(() => window.location.hash.slice(1)) // behind the #, so that it is in no server's log
  if (token === '')
    return (
      <BrokenLink title="This link does not work">
        This link is incomplete. Copy it again from the message, or request a new one under Account.
      </BrokenLink>
    )
  return <Verifying token={token} />
}

function Verifying({ token }: { token: string }) {
  const verified = useQuery<unknown, ApiError>({
    queryKey: ['verify-email', token],
    queryFn: () => post('/email/verify', { token }),
    retry: false,
    staleTime: Infinity, // a link works once
  })
  if (verified.error !== null) return <LinkFault title="This link does not work" query={verified} />
  if (verified.data === undefined)
    return (
      <Center mih="100vh" role="status" aria-label="Loading">
        <Loader />
      </Center>
    )
  return (
    <Door title="Email address verified">
      <Alert color="green" role="status">
        No other account can use this address now.
      </Alert>
      <Anchor component={Link} href="/">
        Continue
      </Anchor>
    </Door>
  )
}
