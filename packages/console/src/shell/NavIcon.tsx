import {
  Activity,
  BellRing,
  Bot,
  ClipboardCheck,
  Inbox,
  LayoutDashboard,
  ListTree,
  type LucideIcon,
  Radio,
  Rocket,
  Scale,
  ScrollText,
  Users,
  Webhook
} from "lucide-react"

const icons: ReadonlyMap<string, LucideIcon> = new Map([
  ["/overview", LayoutDashboard],
  ["/runs", ListTree],
  ["/launch", Rocket],
  ["/inbox", Inbox],
  ["/events", Radio],
  ["/agents", Bot],
  ["/committee", Users],
  ["/review", ClipboardCheck],
  ["/policies", Scale],
  ["/alerts", BellRing],
  ["/webhooks", Webhook],
  ["/audit", ScrollText],
  ["/operations", Activity]
])

/** The icon of a page, beside its name; it is not part of a first load. */
export default function NavIcon({ path }: { readonly path: string }) {
  const Icon = icons.get(path)
  return Icon === undefined ? null : <Icon size={16} aria-hidden />
}
