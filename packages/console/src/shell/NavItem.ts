import type { LucideIcon } from "lucide-react"

/** A page that the sidebar leads to. */
export interface NavItem {
  readonly path: string
  readonly title: string
  readonly icon: LucideIcon
  /** The key after `g` that opens the page. */
  readonly key: string
}
