/** Where the service is killed in a turn, in the order in which a turn comes there. */
export const TURN_KILLS = ["turn-stored", "request-sent", "answer-received", "act-stored", "act-sent"] as const
export type TurnKill = (typeof TURN_KILLS)[number]
