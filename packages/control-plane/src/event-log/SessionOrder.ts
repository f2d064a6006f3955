import { OTLP_RUNTIME_KIND } from "@runplane/domain"

/**
 * The order of runs `r` that have one session id, the run of the session first: one that lost its session sorts behind,
 * and one of telemetry, whose session id is a key that its sender chose.
 */
export const SESSION_ORDER = `
  ORDER BY (r.runtime_kind = '${OTLP_RUNTIME_KIND}'), (r.error_code IS NOT DISTINCT FROM 'RUNTIME_TIMEOUT'),
           r.created_at DESC, r.id DESC`
