// C++: scopes end on every way out of a block, exceptions included; they work in templates, lambdas, methods and
// threads; PROFILE_ARG takes values of any type. The program is a calculator for sums, one of which is wrong.
//
//     c++ -std=c++11 -O2 examples/cpp.cpp -o cpp -pthread && ./cpp
//
// Then drag cpp.json into https://ui.perfetto.dev. The implementation may also be compiled as C, in a file of its own.
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// A recording that lasts as long as an object does.
class Recording {
public:
    explicit Recording(const char *output)
    {
        prof_config config = prof_config();
        config.output = output;
        status_ = prof_start(&config);
    }
    ~Recording()
    {
        if (status_ == PROF_OK) status_ = prof_stop();
        if (status_ != PROF_OK) std::fprintf(stderr, "cpp: no trace: %s\n", prof_error());
    }
    Recording(const Recording &) = delete;
    Recording &operator=(const Recording &) = delete;

private:
    prof_status status_;
};

class Parser {
public:
    explicit Parser(const std::string &text) : text_(text), at_(0) {}

    double sum()
    {
        PROFILE_FUNCTION();
        double result = term();
        while (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
            const bool minus = text_[at_++] == '-';
            const double next = term();
            result += minus ? -next : next;
        }
        PROFILE_ARG("result", result); // a double
        return result;
    }

private:
    double term()
    {
        PROFILE_FUNCTION();
        if (at_ < text_.size() && text_[at_] == '(') {
            ++at_;
            const double inner = sum();
            if (at_ == text_.size() || text_[at_++] != ')') throw std::runtime_error("a parenthesis is open");
            return inner;
        }
        char *end = nullptr;
        const double value = std::strtod(text_.c_str() + at_, &end);
        const std::size_t length = static_cast<std::size_t>(end - text_.c_str()) - at_;
        if (length == 0) throw std::runtime_error("a number is missing");
        at_ += length;
        return value;
    }

    std::string text_;
    std::size_t at_;
};

static bool calculate(const std::string &text)
{
    PROFILE_SCOPE_DYNAMIC(text.c_str()); // named at run time, after the text
    try {
        std::printf("%s = %g\n", text.c_str(), Parser(text).sum());
        return true;
    } catch (const std::exception &error) { // the scopes that it left have ended
        PROFILE_MARK_DYNAMIC(error.what());
        std::printf("%s: %s\n", text.c_str(), error.what());
        return false;
    }
}

// Each instance of a template has call sites of its own.
template <typename Number> static Number sorted_median(std::vector<Number> numbers, const char *type)
{
    PROFILE_FUNCTION();
    PROFILE_ARG("type", type);           // a string, copied
    PROFILE_ARG("count", numbers.size()); // an unsigned integer
    PROFILE_BLOCK("sort") { std::sort(numbers.begin(), numbers.end()); }
    const Number median = numbers[numbers.size() / 2];
    PROFILE_ARG("median", median);
    return median;
}

int main()
{
    Recording recording("cpp.json");
    PROFILE_THREAD("calculator");
    bool good = calculate("1+2-(3-4)");
    good = !calculate("1+(2-") && good;

    std::thread sorter([] {
        PROFILE_THREAD("sorter");
        PROFILE_SCOPE("lambda");
        std::vector<int> whole;
        std::vector<float> broken;
        for (unsigned i = 0; i < 100000; ++i) {
            whole.push_back(static_cast<int>(i * 2654435761u >> 8));
            broken.push_back(static_cast<float>(whole.back()) / 3.0f);
        }
        std::printf("medians: %d, %g\n", sorted_median(whole, "int"),
                    static_cast<double>(sorted_median(broken, "float")));
    });
    sorter.join();
    return good ? 0 : 1;
}
