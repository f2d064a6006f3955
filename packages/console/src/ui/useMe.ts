import { type Me, mayUse, type Role } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { callRuns } from "../client/Client.ts"

/** The role of a key does not change; another key has a page of its own. */
const FRESH_MS = 60_000

/** Who the service takes this tab for (docs/reference/http.md#roles); undefined until it has said so. */
export const useMe = (): Me | undefined =>
  useQuery({
    queryKey: ["me"],
    queryFn: ({ signal }) => callRuns((api) => api.me.me(), signal),
    staleTime: FRESH_MS
  }).data

/** Whether the caller may do what asks for a role: no until the service has said so. */
export const useMay = (): ((role: Role) => boolean) => {
  const me = useMe()
  return (role) => me !== undefined && mayUse(me.role, role)
}
