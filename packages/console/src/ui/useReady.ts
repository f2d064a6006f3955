import type { Readiness } from "@runplane/api"
import type { UseQueryResult } from "@tanstack/react-query"
import { SOON_MS } from "../view/live/Polls.ts"
import { useRead } from "./useRead.ts"

/**
 * The readiness of the service, read every few seconds on every page, so that each page notices a service that has
 * stopped and a database that is away. Probes are not throttled. Each component that reads it shares one request.
 */
export const useReady = (): UseQueryResult<Readiness> =>
  useRead(["ready"], (api) => api.health.readyz({ query: {} }), { everyMs: SOON_MS })
