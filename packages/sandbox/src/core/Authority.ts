import type { SessionBinding } from "./Mode.ts"

/** Who may send the Commitment (runtime-wire section 9.4). "Roles" are sender ids, compared verbatim. */
export const mayCommit = (sender: string, binding: SessionBinding, policyAuthority: boolean): boolean => {
  if (!policyAuthority) return sender === binding.initiator
  const { authority, designated_roles } = binding.policy.rules.commitment
  switch (authority) {
    case "initiator_only":
      return sender === binding.initiator
    case "any_participant":
      return sender === binding.initiator || binding.participants.includes(sender)
    case "designated_role":
      return designated_roles.includes(sender)
  }
}

/**
 * Who may cancel, suspend and resume: whoever may commit, and the initiator always (runtime-wire sections 5.3, 9.4).
 */
export const mayControl = (sender: string, binding: SessionBinding, policyAuthority: boolean): boolean =>
  sender === binding.initiator || mayCommit(sender, binding, policyAuthority)
