/** The page of a user. In the query of its address: a path may not hold every user ID. */
export const userPath = (appId: string | number, userId: string) =>
  `/apps/${appId}/users?${new URLSearchParams({ user: userId }).toString()}`
