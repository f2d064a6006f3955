import {
  Braces,
  Columns2,
  type LucideIcon,
  Mail,
  MessageSquareText,
  Package,
  RadioTower,
  Route,
  Rows4,
  Scale,
  ScrollText,
  Wallet,
  Waypoints
} from "lucide-react"
import type { RunPageState } from "./RunParams.ts"

const icons: Readonly<Record<RunPageState["view"], LucideIcon>> = {
  story: MessageSquareText,
  decision: Scale,
  policy: ScrollText,
  timeline: Columns2,
  graph: Waypoints,
  events: Rows4,
  messages: Mail,
  signals: RadioTower,
  cost: Wallet,
  artifacts: Package,
  traces: Route,
  raw: Braces
}

/** The icon of a view, beside its name. Only wide screens show it, so it is not part of a first load. */
export default function TabIcon({ view }: { readonly view: RunPageState["view"] }) {
  const Icon = icons[view]
  return <Icon size={14} aria-hidden />
}
