import { type Me, mayUse, type Role } from "@runplane/api"
import { useRead } from "./useRead.ts"

/** Who the service takes this tab for (docs/http.md#roles); undefined until it has said so. */
export const useMe = (): Me | undefined => useRead(["me"], (api) => api.me.me()).data

/** Whether the caller may do what asks for this role: no until the service has said so. */
export const useMay = (role: Role): boolean => {
  const me = useMe()
  return me !== undefined && mayUse(me.role, role)
}
