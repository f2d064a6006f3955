import { type Me, mayUse, type Role } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { callRuns } from "../../client/Client.ts"

/** Who the service takes this tab for (docs/http.md#roles); undefined until it has said so. */
export const useCaller = (): Me | undefined =>
  useQuery({
    queryKey: ["me"],
    queryFn: ({ signal }) => callRuns((api) => api.me.me(), signal),
    staleTime: 60_000
  }).data

/** Whether the caller may do what asks for a role: no until the service has said so. */
export const useMay = (): ((role: Role) => boolean) => {
  const me = useCaller()
  return (role) => me !== undefined && mayUse(me.role, role)
}
