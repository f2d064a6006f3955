import { type KeyboardEvent, useMemo, useState } from "react"
import { hue, UserText } from "../../../ui/basics.tsx"
import { Empty } from "../../../ui/States.tsx"
import { counted, cut, whole } from "../../../view/format/Format.ts"
import {
  type FlowEdge,
  type FlowNode,
  flowOf,
  groupNames,
  NODE_HEIGHT,
  NODE_WIDTH,
  nodeName,
  pathOf,
  thicknessOf
} from "../../../view/run/Flow.ts"
import type { RunViewProps } from "../useShown.ts"

const MOST_LISTED = 200
const LETTERS = 26
/** Height up to which a graph is drawn as large as the pane allows, and how much larger. */
const FITS = 420
const MOST_SCALE = 1.7
/** Participants that are drawn one by one without a choice. */
const MOST_SINGLE = 40

/** Messages between participants and proposals. Nodes keep their positions while the run grows. */
export default function GraphView({ page, set, shown }: RunViewProps) {
  const { participants } = shown.state
  // Many participants are grouped unless the address says otherwise.
  const isGrouped = page.groups === "on" || (page.groups === "auto" && participants.length > MOST_SINGLE)
  const flow = useMemo(() => {
    const nameOf = isGrouped ? groupNames(participants) : undefined
    return flowOf(shown.events, participants, { filter: page.nodes, ...(nameOf !== undefined && { nameOf }) })
  }, [shown.events, participants, isGrouped, page.nodes])
  const [pointed, setPointed] = useState<string>()
  const nodes = useMemo(() => new Map(flow.nodes.map((node) => [node.id, node])), [flow])
  if (participants.length === 0 && flow.nodes.length === 0) return <Empty title="No participants yet" />
  const isLit = ({ from, to }: FlowEdge) => pointed === undefined || from === pointed || to === pointed
  return (
    <div className="flex h-full flex-col">
      <div className="no-print flex shrink-0 flex-wrap items-center gap-3 border-b border-line bg-panel px-4 py-1.5">
        <input
          type="search"
          aria-label="Filter the graph"
          placeholder="Participant or proposal"
          className="field w-[220px]"
          value={page.nodes}
          onChange={({ target }) => set({ nodes: target.value })}
        />
        <label className="flex items-center gap-1.5">
          <input
            type="checkbox"
            checked={isGrouped}
            onChange={({ target }) => set({ groups: target.checked ? "on" : "off" })}
          />
          Group similar names
        </label>
        <span className="num text-muted" aria-live="polite">
          {flow.nodes.length === 0 ? "No name has this text" : counted(flow.nodes.length, "node")}
        </span>
      </div>
      <div tabIndex={0} role="region" aria-label="Graph" className="min-h-0 flex-1 overflow-auto bg-panel p-2">
        <svg
          // A small graph uses the pane, a large one scrolls.
          {...(flow.height > FITS
            ? { width: flow.width, height: flow.height }
            : { width: "100%", height: "100%", style: { maxWidth: flow.width * MOST_SCALE } })}
          preserveAspectRatio="xMidYMin meet"
          viewBox={`0 0 ${flow.width} ${flow.height}`}
          role="group"
          aria-label="Participants, proposals and the messages between them; the list below says the same"
          className="mx-auto block max-w-none"
        >
          {flow.edges.map((edge) => {
            const [from, to] = [nodes.get(edge.from), nodes.get(edge.to)]
            if (from === undefined || to === undefined) return null
            const name = nodeName(edge.from)
            return (
              <path
                key={`${edge.from} ${edge.to}`}
                role="button"
                tabIndex={-1}
                aria-label={`${name} to ${nodeName(edge.to)}: ${typesOf(edge)}`}
                d={pathOf(from, to)}
                fill="none"
                stroke={from.kind === "participant" ? hue(shown.participantIndex(name)) : "var(--c-calm)"}
                strokeWidth={thicknessOf(edge.count)}
                strokeOpacity={isLit(edge) ? (edge.index === page.event ? 1 : 0.55) : 0.1}
                className="cursor-pointer"
                onClick={() => set({ event: edge.index })}
                onKeyDown={onEnter(() => set({ event: edge.index }))}
              >
                <title>{`${name} → ${nodeName(edge.to)}: ${typesOf(edge)}`}</title>
              </path>
            )
          })}
          {flow.nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              colour={node.kind === "participant" ? hue(shown.participantIndex(node.title)) : "var(--c-line-strong)"}
              onPoint={setPointed}
              onSelect={() => (node.index === 0 ? undefined : set({ event: node.index }))}
            />
          ))}
        </svg>
      </div>
      <details className="max-h-[45%] shrink-0 overflow-auto border-t border-line bg-panel px-4 py-2">
        <summary className="cursor-pointer font-medium">
          {counted(flow.edges.length, "edge")} as a list
          {flow.leftOut === 0 ? "" : `; ${whole(flow.leftOut)} participants and proposals are not drawn`}
        </summary>
        <ul className="mt-2 flex flex-col gap-1">
          {flow.edges.slice(0, MOST_LISTED).map((edge) => (
            <li key={`${edge.from} ${edge.to}`} className="flex flex-wrap items-baseline gap-x-2">
              <button
                type="button"
                className="num text-accent underline"
                onClick={() => set({ event: edge.index })}
                data-edge={edge.count}
              >
                {counted(edge.count, "message")}
              </button>
              <span>
                <UserText text={nodeName(edge.from)} /> → <UserText text={nodeName(edge.to)} />
              </span>
              <UserText text={typesOf(edge)} className="text-muted" />
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

const typesOf = ({ types }: FlowEdge): string => types.map(([type, count]) => `${whole(count)} ${type}`).join(", ")

const onEnter = (run: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Enter" && event.key !== " ") return
  event.preventDefault()
  run()
}

interface NodeProps {
  readonly node: FlowNode
  readonly colour: string
  readonly onPoint: (id: string | undefined) => void
  readonly onSelect: () => void
}

/** The drawn name, with the full name when it is cut. */
const labelOf = ({ kind, title }: FlowNode): string => {
  const drawn = cut(title, LETTERS)
  return drawn === title ? `${kind} ${title}` : `${kind} ${drawn}, in full ${title}`
}

const Node = ({ colour, node, onPoint, onSelect }: NodeProps) => (
  <g
    role="button"
    tabIndex={0}
    aria-label={labelOf(node)}
    onFocus={() => onPoint(node.id)}
    onBlur={() => onPoint(undefined)}
    onKeyDown={onEnter(onSelect)}
    onMouseEnter={() => onPoint(node.id)}
    onMouseLeave={() => onPoint(undefined)}
    onClick={onSelect}
    className="cursor-pointer"
  >
    <title>{node.title}</title>
    <rect
      x={node.x}
      y={node.y}
      width={NODE_WIDTH}
      height={NODE_HEIGHT}
      rx={node.kind === "participant" ? NODE_HEIGHT / 2 : 6}
      fill={node.tone === undefined ? "var(--c-raised)" : `var(--c-${node.tone}-soft)`}
      stroke={node.tone === undefined ? colour : `var(--c-${node.tone})`}
      strokeWidth={1.5}
    />
    <svg x={node.x} y={node.y} width={NODE_WIDTH - 8} height={NODE_HEIGHT}>
      <text
        x={14}
        y={NODE_HEIGHT / 2}
        dominantBaseline="central"
        fontSize={12.5}
        fontWeight={node.kind === "participant" ? 500 : 600}
        fill="var(--c-text)"
        direction="ltr"
        unicodeBidi="isolate"
      >
        {cut(node.title, LETTERS)}
      </text>
    </svg>
  </g>
)
