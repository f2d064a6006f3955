import type { ParticipantStatus } from "../run/ParticipantStatus.ts"
import { replaceAt } from "../values/Bounds.ts"
import type { EventView } from "./EventView.ts"
import { type GraphEdge, type GraphNode, MAX_GRAPH_EDGES, type RunState } from "./RunState.ts"

type Graph = RunState["graph"]
type Nodes = Graph["nodes"]
type Edges = Graph["edges"]
type Edge = Omit<GraphEdge, "ts">

const START = "__start"
const PROPOSAL = "__proposal"
const DECISION = "__decision"
const OUTCOME = "__outcome"

/** Edges up to which a linear search is cheaper than an index of the whole list. */
const FEW_EDGES = 8

/** The order in which the life-cycle nodes move, upwards only. */
const RANKS: Readonly<Record<ParticipantStatus, number>> = {
  idle: 0,
  waiting: 1,
  active: 2,
  completed: 3,
  skipped: 3,
  failed: 4
}

/**
 * Folds the section `graph`: messages add edges and move the life-cycle nodes, participant nodes follow the
 * participants' statuses.
 */
export const foldGraph = (
  graph: Graph,
  view: EventView,
  recipients: ReadonlyArray<string>,
  participants: RunState["participants"],
  before: RunState["participants"]
): Graph => {
  const isMessage = view.event.type === "message.received"
  if (!isMessage && participants === before) return graph
  const synced = participants === before ? graph.nodes : syncParticipants(graph.nodes, participants)
  const nodes = isMessage ? moveNodes(synced, view.messageType) : synced
  const edges = isMessage ? upsertEdges(graph.edges, edgesOf(view, recipients), view.event.ts) : graph.edges
  return nodes === graph.nodes && edges === graph.edges ? graph : { nodes, edges }
}

/** Participant nodes are in the order of the participants, so one walk over both is enough. */
const syncParticipants = (nodes: Nodes, participants: RunState["participants"]): Nodes => {
  const next: Array<GraphNode> = []
  let at = 0
  for (const node of nodes) {
    const participant = node.kind === "participant" ? participants[at++] : undefined
    const isSame =
      participant === undefined || (participant.participantId === node.id && participant.status === node.status)
    next.push(isSame ? node : nodeOf(participant))
  }
  for (const participant of participants.slice(at)) next.push(nodeOf(participant))
  return next
}

const nodeOf = ({ participantId, status }: RunState["participants"][number]): GraphNode => ({
  id: participantId,
  kind: "participant",
  status
})

const moveNodes = (nodes: Nodes, messageType: string): Nodes => {
  const started = moveNode(nodes, START, "start", "completed")
  switch (messageType) {
    case "Proposal":
      return moveNode(started, PROPOSAL, "proposal", "active")
    case "Vote":
    case "Evaluation":
    case "Objection":
      return moveNode(started, DECISION, "decision", "active")
    case "Commitment": {
      const proposed = started.some(({ kind }) => kind === "proposal")
        ? moveNode(started, PROPOSAL, "proposal", "completed")
        : started
      const decided = moveNode(proposed, DECISION, "decision", "completed")
      return moveNode(decided, OUTCOME, "output", "completed")
    }
    default:
      return started
  }
}

const moveNode = (nodes: Nodes, id: string, kind: GraphNode["kind"], status: ParticipantStatus): Nodes => {
  const at = nodes.findIndex((node) => node.kind === kind)
  const node = nodes[at]
  if (node === undefined) return [...nodes, { id, kind, status }]
  return RANKS[status] > RANKS[node.status] ? replaceAt(nodes, at, { ...node, status }) : nodes
}

const edgesOf = ({ messageType, sender }: EventView, recipients: ReadonlyArray<string>): ReadonlyArray<Edge> => {
  const edges: Array<Edge> = []
  const hasSender = sender !== ""
  switch (messageType) {
    case "SessionStart":
      if (hasSender) edges.push({ from: START, to: sender, kind: "session.bound" })
      if (hasSender) for (const to of recipients) edges.push({ from: sender, to, kind: "fanout" })
      break
    case "Proposal":
      if (hasSender) edges.push({ from: sender, to: PROPOSAL, kind: "proposes" })
      for (const to of recipients) edges.push({ from: PROPOSAL, to, kind: "review" })
      break
    case "Vote":
    case "Evaluation":
    case "Objection":
      if (hasSender) edges.push({ from: sender, to: DECISION, kind: messageType.toLowerCase() })
      break
    case "Commitment":
      edges.push({ from: DECISION, to: OUTCOME, kind: "commits" })
      break
    default:
      break
  }
  if (hasSender && messageType !== "") {
    for (const to of recipients) edges.push({ from: sender, to, kind: messageType })
  }
  return edges
}

/** Adds the edges, or refreshes the time of those already there, and keeps the last `MAX_GRAPH_EDGES`. */
const upsertEdges = (edges: Edges, additions: ReadonlyArray<Edge>, ts: string): Edges => {
  if (additions.length === 0) return edges
  const next = edges.slice()
  const find = additions.length > FEW_EDGES ? indexed(next) : (edge: Edge) => next.findIndex((old) => isSame(old, edge))
  for (const edge of additions) {
    if (edge.from === edge.to) continue
    const at = find(edge)
    if (at < 0) next.push({ ...edge, ts })
    else next[at] = { ...edge, ts }
  }
  return next.length > MAX_GRAPH_EDGES ? next.slice(next.length - MAX_GRAPH_EDGES) : next
}

const isSame = (a: Edge, b: Edge): boolean => a.from === b.from && a.to === b.to && a.kind === b.kind

/** A look-up over the list; an edge that it does not find is added to the list. */
const indexed = (edges: ReadonlyArray<Edge>): ((edge: Edge) => number) => {
  // No text of an event holds U+0000, so the key is unambiguous.
  const keyOf = ({ from, kind, to }: Edge) => `${from}\u0000${to}\u0000${kind}`
  const indexes = new Map(edges.map((edge, at) => [keyOf(edge), at]))
  return (edge) => {
    const key = keyOf(edge)
    const at = indexes.get(key)
    if (at === undefined) indexes.set(key, indexes.size)
    return at ?? -1
  }
}
