import { TriangleAlert } from "lucide-react"
import { UserText } from "../../../ui/basics.tsx"

/** A reason as a paragraph, or a warning. */
export const ToneParagraph = ({ text, tone }: { readonly text: string; readonly tone: "calm" | "warn" }) => (
  <p className={tone === "warn" ? "flex items-baseline gap-2 text-warn" : ""}>
    {tone === "warn" ? <TriangleAlert size={13} aria-hidden className="shrink-0 translate-y-0.5" /> : null}
    <span className="min-w-0">
      {tone === "warn" ? <span className="sr-only">Warning: </span> : null}
      <UserText text={text} />
    </span>
  </p>
)
