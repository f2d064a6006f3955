import { lead } from "../decision/Lead.ts"
import { incidentOf } from "./IncidentContext.ts"

/** The commander of an incident bridge. An incident that is over when all have voted needs no decision any more. */
export const commander = lead({
  group: "bridge",
  scope: "incident_bridge",
  calledOff: ({ context }) => {
    const { recoversMeanwhile, service } = incidentOf(context)
    return recoversMeanwhile ? `${service} has recovered while the bridge was talking: nothing to decide` : undefined
  }
})
