import { Check, Copy, type LucideIcon } from "lucide-react"
import { useCopy } from "./hooks.ts"

interface CopyButtonProps {
  readonly title: string
  /** Made when it is copied. */
  readonly text: () => string
  readonly icon?: LucideIcon
}

/** A button that copies a text, and shows that it did. */
export const CopyButton = ({ icon: Icon = Copy, text, title }: CopyButtonProps) => {
  const [isCopied, copy] = useCopy()
  const Shown = isCopied ? Check : Icon
  return (
    <button
      type="button"
      className="btn btn-quiet px-1 text-soft"
      title={title}
      aria-label={isCopied ? "Copied" : title}
      onClick={() => copy(text())}
    >
      <Shown size={15} aria-hidden className={isCopied ? "text-good" : ""} />
    </button>
  )
}
