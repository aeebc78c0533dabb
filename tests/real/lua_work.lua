-- Something of everything an interpreter does, the ways out of a function above all. Prints what the trace must agree
-- with: how often a C function left by longjmp, and how often os.clock was called from the top of this file.
local errors, yields, clocks = 0, 0, 0

local function at_top()
    os.clock()
    clocks = clocks + 1
end

-- n queens
local function queens(n)
    local found, columns, up, down = 0, {}, {}, {}
    local function place(row)
        if row > n then
            found = found + 1
            return
        end
        for c = 1, n do
            if not columns[c] and not up[row + c] and not down[row - c + n] then
                columns[c], up[row + c], down[row - c + n] = true, true, true
                place(row + 1)
                columns[c], up[row + c], down[row - c + n] = nil, nil, nil
            end
        end
    end
    place(1)
    return found
end
assert(queens(7) == 40)
at_top()

-- numbers
local inside = 0
for y = -12, 12 do
    for x = -20, 10 do
        local cr, ci, zr, zi, n = x / 10, y / 10, 0, 0, 0
        while n < 30 and zr * zr + zi * zi < 4 do
            zr, zi, n = zr * zr - zi * zi + cr, 2 * zr * zi + ci, n + 1
        end
        if n == 30 then inside = inside + 1 end
    end
end
assert(inside > 0)
at_top()

-- strings and tables
local words = {}
for i = 1, 2000 do words[i] = ("%04d:%s"):format(i * 7919 % 2000, ("x"):rep(i % 9)) end
table.sort(words, function(a, b) return a < b end)
local text = table.concat(words, ","):gsub("%d+", function(d) return tostring(tonumber(d) + 1) end)
assert(#text > 1000 and select(2, text:gsub(",", ",")) == 1999)
assert(load("return " .. table.concat({ 1, 2, 3 }, "+"))() == 6)
at_top()

-- errors: out of a Lua function, out of C functions with C frames in between, out of the parser
local function attempt(f, ...)
    local good, what = pcall(f, ...)
    assert(not good, "an error was expected")
    errors = errors + 1
    return what
end
for i = 1, 50 do
    attempt(error, { code = i })
    attempt(function() local nothing; return nothing.field end)
    attempt(table.sort, { 3, 1, 2, 5, 4 }, function() error("in a comparison") end)
    attempt(string.gsub, "abc", "%w", function() error("in a replacement") end)
    attempt(string.rep) -- no argument
    at_top()
end
for i = 1, 20 do
    assert(not load("x = = " .. i)) -- a syntax error, caught by load itself
    errors = errors + 1
end
at_top()

-- one protected call inside another, errors thrown again at each level
local function nested(depth)
    if depth == 0 then error("at the bottom") end
    local good, what = pcall(nested, depth - 1)
    errors = errors + 1
    error(what, 0)
end
attempt(nested, 20)
at_top()
assert(not xpcall(error, function(what) return debug.traceback(what) end, "with a handler"))
errors = errors + 1
at_top()

-- coroutines: each yield of coroutine.yield is a longjmp out of the resume that waits for it
local function counter(n)
    return coroutine.wrap(function()
        for i = 1, n do
            yields = yields + 1
            coroutine.yield(i)
        end
    end)
end
local sum = 0
for i in counter(300) do sum = sum + i end
assert(sum == 45150)
at_top()

local dies = coroutine.create(function()
    yields = yields + 1
    coroutine.yield()
    error("in a coroutine")
end)
assert(coroutine.resume(dies))
assert(not coroutine.resume(dies))
errors = errors + 1
at_top()

-- depth: Lua calls need no C frames, metamethods and pcall do
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
assert(deep(5000) == 5000)
local chain = setmetatable({}, { __index = function(_, n) return n end })
for _ = 1, 150 do
    local inner = chain
    chain = setmetatable({}, { __index = function(_, n) return inner[n] + 1 end })
end
assert(chain[1] == 151)
at_top()

print("errors", errors)
print("yields", yields)
print("clocks", clocks)
