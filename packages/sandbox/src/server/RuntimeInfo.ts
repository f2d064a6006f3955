import { PROTOCOL_VERSION } from "../core/EnvelopeShape.ts"

/** What Initialize answers, the modes excepted: identity and capabilities (docs/runtime.md#rpcs). */
export const RUNTIME_INFO = {
  selectedProtocolVersion: PROTOCOL_VERSION,
  runtimeInfo: {
    name: "macp-runtime",
    title: "Runplane sandbox runtime",
    version: "0.1.0",
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
