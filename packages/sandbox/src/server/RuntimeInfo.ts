import type { Release } from "@runplane/domain"
import { PROTOCOL_VERSION } from "../core/EnvelopeShape.ts"

/**
 * What Initialize answers, the modes excepted: identity and capabilities (docs/internals/runtime.md#rpcs). The version
 * is the release whose rules are followed: by it clients judge what the runtime can do.
 */
export const runtimeInfo = (release: Release) => ({
  ...RUNTIME_INFO,
  runtimeInfo: { ...RUNTIME_INFO.runtimeInfo, version: release }
})

export const RUNTIME_INFO = {
  selectedProtocolVersion: PROTOCOL_VERSION,
  runtimeInfo: {
    name: "macp-runtime",
    title: "Runplane sandbox runtime",
    description: "Development runtime: sessions in memory, gone when the process ends.",
    websiteUrl: ""
  },
  capabilities: {
    sessions: { stream: true, listSessions: true, watchSessions: true },
    cancellation: { cancelSession: true },
    progress: { progress: true },
    manifest: { getManifest: true },
    modeRegistry: { listModes: true, listChanged: true },
    roots: { listRoots: true, listChanged: false },
    policyRegistry: { registerPolicy: true, listPolicies: true, listChanged: true }
  },
  instructions: "Authenticate every call with `authorization: Bearer <token>`."
} as const
