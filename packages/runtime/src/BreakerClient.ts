import type { CircuitBreaker } from "./CircuitBreaker.ts"
import type { RuntimeClientShape } from "./RuntimeClientShape.ts"
import { collectSessions } from "./SessionListing.ts"

/** The client with every unary call guarded; each page of a listing is a separate call. */
export const guardUnaryCalls = (
  client: RuntimeClientShape,
  { guard }: CircuitBreaker["Service"]
): RuntimeClientShape => {
  const listSessionsPage: RuntimeClientShape["listSessionsPage"] = (request) =>
    guard("ListSessions", client.listSessionsPage(request))
  return {
    ...client,
    initialize: guard("Initialize", client.initialize),
    getSession: (sessionId) => guard("GetSession", client.getSession(sessionId)),
    listSessionsPage,
    listSessions: collectSessions(listSessionsPage, client.listing),
    cancelSession: (control) => guard("CancelSession", client.cancelSession(control)),
    suspendSession: (control) => guard("SuspendSession", client.suspendSession(control)),
    resumeSession: (control) => guard("ResumeSession", client.resumeSession(control)),
    registerPolicy: (policy) => guard("RegisterPolicy", client.registerPolicy(policy)),
    unregisterPolicy: (policyId) => guard("UnregisterPolicy", client.unregisterPolicy(policyId)),
    getPolicy: (policyId) => guard("GetPolicy", client.getPolicy(policyId)),
    listPolicies: (mode) => guard("ListPolicies", client.listPolicies(mode)),
    listModes: guard("ListModes", client.listModes),
    listRoots: guard("ListRoots", client.listRoots),
    getManifest: (agentId) => guard("GetManifest", client.getManifest(agentId))
  }
}
