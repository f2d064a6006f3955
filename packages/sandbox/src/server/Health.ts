import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect"
import { Health, MACPRuntimeService, HealthCheckResponse_ServingStatus as ServingStatus } from "@runplane/runtime"
import { aborted } from "./Watches.ts"

/** Empty asks about the whole server. */
const KNOWN = new Set(["", MACPRuntimeService.typeName, Health.typeName])

/**
 * Serves `grpc.health.v1.Health` (docs/internals/runtime.md#rpcs). A server that answers is serving: there is nothing
 * it depends on.
 */
export const serveHealth = (router: ConnectRouter): void => {
  router.service(Health, {
    check: ({ service }) => {
      if (!KNOWN.has(service)) throw new ConnectError("unknown service", Code.NotFound)
      return { status: ServingStatus.SERVING }
    },
    async *watch({ service }, call: HandlerContext) {
      yield { status: KNOWN.has(service) ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN }
      await aborted(call.signal)
    }
  })
}
