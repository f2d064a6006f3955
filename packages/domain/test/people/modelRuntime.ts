import type { RawEnvelope } from "@runplane/domain"

/** The rules of a decision session on a runtime, and what it has accepted. */
export class ModelRuntime {
  readonly accepted: Array<RawEnvelope> = []
  ended = false

  send(envelope: RawEnvelope): "ok" | "duplicate" | "refused" {
    if (this.accepted.some(({ messageId }) => messageId === envelope.messageId)) return "duplicate"
    if (this.ended || !this.allows(envelope)) return "refused"
    this.accepted.push(envelope)
    return "ok"
  }

  private allows({ messageType, payload, sender }: RawEnvelope): boolean {
    const about = (one: Uint8Array): string => JSON.parse(new TextDecoder().decode(one)).proposalId
    const isVoting = this.accepted.some((one) => one.messageType === "Vote")
    const isKnown = this.accepted.some((one) => one.messageType === "Proposal" && about(one.payload) === about(payload))
    switch (messageType) {
      case "SessionStart":
        return this.accepted.length === 0
      case "Proposal":
        return !isVoting && !isKnown
      case "Vote":
        return (
          isKnown &&
          !this.accepted.some(
            (one) => one.messageType === "Vote" && one.sender === sender && about(one.payload) === about(payload)
          )
        )
      default:
        return isKnown && !isVoting
    }
  }
}
