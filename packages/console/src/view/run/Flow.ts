import { type CanonicalEvent, standardMode, verdictWord } from "@runplane/domain"
import { verdictTone } from "../decision/VerdictTone.ts"
import type { Tone } from "../format/Status.ts"

export interface FlowNode {
  readonly id: string
  readonly kind: "participant" | "proposal" | "decision"
  readonly title: string
  /** Of a decision: its colour is that of the outcome. */
  readonly tone?: Tone
  /** Index of its event: the first of a proposal, the commitment; 0 for a participant. */
  readonly index: number
  readonly x: number
  readonly y: number
}

export interface FlowEdge {
  readonly from: string
  readonly to: string
  /** Messages along it, and how many of each type. */
  readonly count: number
  readonly types: ReadonlyArray<readonly [type: string, count: number]>
  /** Event of the last of them. */
  readonly index: number
}

export interface Flow {
  readonly nodes: ReadonlyArray<FlowNode>
  readonly edges: ReadonlyArray<FlowEdge>
  readonly width: number
  readonly height: number
  /** Proposals and participants beyond those that are drawn. */
  readonly leftOut: number
}

export const NODE_WIDTH = 190
export const NODE_HEIGHT = 38
const ROW = 54
const COLUMN = 262
const EDGE = 16

/** Drawn participants, the first ones; those that proposed or decided are always drawn. */
const MOST_PARTICIPANTS = 300
const MOST_PROPOSALS = 100

interface Draft {
  readonly from: string
  readonly to: string
  readonly types: Map<string, number>
  count: number
  index: number
}

const PERSON = "p:"
const PROPOSAL = "q:"
const DECISION = "d:"

interface FlowOptions {
  /** The name of the node of a participant; participants of one name share a node. */
  readonly nameOf?: (participantId: string) => string
  /** Only nodes with this text in their name, and those that exchanged a message with one of them. */
  readonly filter?: string
}

const sameName = (participantId: string) => participantId

/** Participants from which on a name with a number stands for a group. */
const LEAST_GROUP = 5
const NUMBER = /[-_. #]*\d+$/

/** Names of groups: participants that differ only in a number at the end (`agent-1`, `agent-2`) share `agent (297)`. */
export const groupNames = (
  participants: ReadonlyArray<{ readonly participantId: string }>
): ((participantId: string) => string) => {
  const stemOf = (name: string) => name.replace(NUMBER, "")
  const counts = new Map<string, number>()
  for (const { participantId } of participants) {
    const stem = stemOf(participantId)
    if (stem !== participantId) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  }
  return (participantId) => {
    const stem = stemOf(participantId)
    const count = stem === participantId ? 0 : (counts.get(stem) ?? 0)
    return count < LEAST_GROUP ? participantId : `${stem} (${count})`
  }
}

/** The name of a node by its id. */
const titleIn = (proposals: ReadonlyMap<string, { readonly title: string }>, id: string): string =>
  id.startsWith(PROPOSAL) ? (proposals.get(id.slice(PROPOSAL.length))?.title ?? "") : nodeName(id)

/**
 * Messages between participants and proposals as nodes and edges. A node never moves: participants are in the order of
 * first sight, proposals in the order of their events, and new nodes are added below.
 */
export const flowOf = (
  events: Iterable<CanonicalEvent>,
  participants: ReadonlyArray<{ readonly participantId: string }>,
  { nameOf = sameName, filter = "" }: FlowOptions = {}
): Flow => {
  const proposals = new Map<string, { readonly title: string; readonly index: number }>()
  const edges = new Map<string, Draft>()
  const leading = new Set<string>()
  let decision: Pick<FlowNode, "index" | "title" | "tone"> | undefined
  const add = (from: string, to: string, type: string, index: number) => {
    // No text of an event holds U+0000, so the key is unambiguous.
    const key = `${from}\u0000${to}`
    const edge = edges.get(key) ?? { from, to, types: new Map<string, number>(), count: 0, index }
    edge.count += 1
    edge.index = index
    edge.types.set(type, (edge.types.get(type) ?? 0) + 1)
    edges.set(key, edge)
  }
  for (const event of events) {
    switch (event.type) {
      case "proposal.created": {
        const { action, messageType, proposalId, sender, title } = event.data
        if (!proposals.has(proposalId)) {
          proposals.set(proposalId, { title: action ?? title ?? (proposalId || messageType), index: event.index })
        }
        if (sender !== "") {
          leading.add(nameOf(sender))
          add(PERSON + nameOf(sender), PROPOSAL + proposalId, messageType, event.index)
        }
        break
      }
      case "proposal.updated": {
        const { messageType, proposalId, sender } = event.data
        if (sender !== "") add(PERSON + nameOf(sender), PROPOSAL + proposalId, messageType, event.index)
        break
      }
      case "decision.finalized": {
        const { action = "decided", modeName = "", outcomePositive, proposalId, sender } = event.data
        const verdict = outcomePositive === null ? "decided" : outcomePositive ? "for" : "against"
        const title = outcomePositive === null ? action : verdictWord(verdict, standardMode(modeName))
        decision = { title, tone: verdictTone(verdict), index: event.index }
        if (sender !== "") {
          leading.add(nameOf(sender))
          add(PERSON + nameOf(sender), DECISION, "Commitment", event.index)
        }
        if (proposalId !== undefined) add(PROPOSAL + proposalId, DECISION, "chosen", event.index)
        break
      }
      case "message.received": {
        const { messageType, sender, to } = event.data
        if (sender === "") break
        for (const receiver of to)
          if (receiver !== sender) add(PERSON + nameOf(sender), PERSON + nameOf(receiver), messageType, event.index)
        break
      }
      default:
        break
    }
  }
  const names = [...new Set(participants.map(({ participantId }) => nameOf(participantId)))]
  const wanted = filter.trim().toLowerCase()
  const fits = (name: string) => name.toLowerCase().includes(wanted)
  // A filter keeps the matching nodes and those at the other end of their edges.
  const kept = new Set<string>()
  for (const { from, to } of edges.values()) {
    if (fits(titleIn(proposals, from)) || fits(titleIn(proposals, to))) kept.add(from).add(to)
  }
  const isKept = (id: string, name: string) => wanted === "" || fits(name) || kept.has(id)
  const people = names
    .filter((name, index) => index < MOST_PARTICIPANTS || leading.has(name) || wanted !== "")
    .filter((name) => isKept(PERSON + name, name))
    .slice(0, MOST_PARTICIPANTS + leading.size)
    .map((participantId) => ({ participantId }))
  const put = [...proposals].filter(([id, { title }]) => isKept(PROPOSAL + id, title)).slice(0, MOST_PROPOSALS)
  const nodes: ReadonlyArray<FlowNode> = [
    ...people.map(
      ({ participantId }, row): FlowNode => ({
        id: PERSON + participantId,
        kind: "participant",
        title: participantId,
        index: 0,
        x: EDGE + 44,
        y: EDGE + row * ROW
      })
    ),
    ...put.map(
      ([id, { index, title }], row): FlowNode => ({
        id: PROPOSAL + id,
        kind: "proposal",
        title,
        index,
        x: EDGE + 44 + COLUMN,
        y: EDGE + row * ROW
      })
    ),
    ...(decision === undefined
      ? []
      : [{ id: DECISION, kind: "decision", ...decision, x: EDGE + 44 + 2 * COLUMN, y: EDGE } satisfies FlowNode])
  ]
  const drawn = new Set(nodes.map(({ id }) => id))
  return {
    nodes,
    edges: [...edges.values()]
      .filter(({ from, to }) => drawn.has(from) && drawn.has(to))
      .map(({ types, ...edge }) => ({ ...edge, types: [...types] }))
      .toSorted((one, other) => other.count - one.count || one.index - other.index),
    width: EDGE * 2 + 44 + NODE_WIDTH + COLUMN * (decision === undefined ? 1 : 2),
    height: EDGE * 2 + ROW * Math.max(1, people.length, put.length) - (ROW - NODE_HEIGHT),
    leftOut: names.length - people.length + proposals.size - put.length
  }
}

/** The line of an edge: from the right of a node to the left of another, or around the left within a column. */
export const pathOf = (from: FlowNode, to: FlowNode): string => {
  const [y1, y2] = [from.y + NODE_HEIGHT / 2, to.y + NODE_HEIGHT / 2]
  if (from.x === to.x) {
    const bend = Math.min(56, 18 + Math.abs(y2 - y1) / 12)
    return `M ${from.x} ${y1} C ${from.x - bend} ${y1}, ${to.x - bend} ${y2}, ${to.x} ${y2}`
  }
  const [x1, x2] = [from.x + NODE_WIDTH, to.x]
  const middle = (x1 + x2) / 2
  return `M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${x2} ${y2}`
}

/** The width of the line of `count` messages, pixels. */
export const thicknessOf = (count: number): number => Math.min(12, 1.2 + 1.6 * Math.log2(Math.max(1, count)))

/** The name of a node without the prefix of its kind. */
export const nodeName = (id: string): string => (id === DECISION ? "the decision" : id.slice(2))
