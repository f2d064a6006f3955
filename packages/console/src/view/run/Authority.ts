import { type ActivePolicy, type Deliberation, mayCommit } from "@runplane/domain"

/**
 * Why the session does not let the service control it (docs/reference/runs.md#control-authority); undefined when it
 * does, or when the rules or the identity of the service are unknown.
 */
export const authorityRefusalOf = (
  { initiator }: Pick<Deliberation, "initiator">,
  { policyVersion, sessionRules }: ActivePolicy,
  identity: string | undefined
): string | undefined => {
  if (identity === undefined || sessionRules === undefined || initiator === "") return undefined
  if (identity === initiator || mayCommit(identity, sessionRules.terms)) return undefined
  return (
    `Only ${initiator} and those whom ${policyVersion} lets commit control the session. This service can when the ` +
    `policy names ${identity} among commitment.designated_roles`
  )
}
