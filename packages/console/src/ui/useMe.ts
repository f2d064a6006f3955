import { type Me, mayUse, type RankedRole } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { callRuns } from "../client/Client.ts"

/** The role of a key does not change; another key has a page of its own. */
const FRESH_MS = 60_000

/** The caller of this tab (docs/reference/http.md#roles); undefined until the service has answered. */
export const useMe = (): Me | undefined =>
  useQuery({
    queryKey: ["me"],
    queryFn: ({ signal }) => callRuns((api) => api.me.me(), signal),
    staleTime: FRESH_MS
  }).data

/** Whether the caller has a role; false until the service has answered. */
export const useMay = (): ((role: RankedRole) => boolean) => {
  const me = useMe()
  return (role) => me !== undefined && mayUse(me.role, role)
}
