import type { LucideIcon } from "lucide-react"

/** A page that the sidebar leads to. */
export interface Place {
  readonly path: string
  readonly title: string
  readonly icon: LucideIcon
  /** The letter after `g` that leads there. */
  readonly key: string
}
