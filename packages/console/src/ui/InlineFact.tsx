import type { ReactNode } from "react"

/** A name and its value in one line of facts. */
export const InlineFact = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="flex min-w-0 items-baseline gap-1.5">
    <dt className="label">{title}</dt>
    <dd className="min-w-0 truncate">{children}</dd>
  </div>
)
